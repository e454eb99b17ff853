import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { createApp, type AppOptions } from '../http/https-app.js';
import { createLogger } from '../logging/logger.js';

/** Builds an app that answers `inject()` and never listens; close it when done. (Default logger: silent) */
export const injectableApp = async (
  module: AppOptions['module'],
  options: Partial<Omit<AppOptions, 'module'>> = {},
): Promise<NestFastifyApplication> => {
  const { app } = await createApp({ module, logger: createLogger({ name: 'test', level: 'silent' }), ...options });
  return app;
};

/** A logger whose lines can be read back, as objects and as the text that was written. */
export const recordingLogger = (): { logger: Logger; text(): string; lines(): Record<string, unknown>[] } => {
  const written: string[] = [];
  const logger = createLogger({ name: 'test', level: 'trace', destination: { write: (line) => written.push(line) } });
  return {
    logger,
    text: () => written.join(''),
    lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
};
