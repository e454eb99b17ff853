import { createLogger, runApp } from '@rollcall/nest-platform';
import { APP_NAME, readMachineApiConfig } from './config.js';
import { start } from './start.js';

await runApp(
  () => start(readMachineApiConfig(process.env)),
  () => createLogger({ name: APP_NAME }),
);
