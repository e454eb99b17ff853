import type { DynamicModule } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import type { Logger } from 'pino';

/** Binds each line that is written while a request is answered to the request's id. The line per answer is the HTTP server's own. */
export const loggingModule = (logger: Logger): DynamicModule =>
  LoggerModule.forRoot({
    pinoHttp: {
      logger,
      autoLogging: false,
      quietReqLogger: true,
      customAttributeKeys: { reqId: 'requestId' },
      wrapSerializers: false,
    },
  });
