import { createLogger, runApp } from '@rollcall/nest-platform';
import { readOperatorApiConfig } from './config.js';
import { start } from './start.js';

await runApp(
  () => start(readOperatorApiConfig(process.env)),
  () => createLogger({ name: 'operator-api' }),
);
