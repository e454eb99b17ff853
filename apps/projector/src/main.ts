import { createLogger, runApp } from '@rollcall/nest-platform';
import { readProjectorConfig } from './config.js';
import { start } from './start.js';

await runApp(
  () => start(readProjectorConfig(process.env)),
  () => createLogger({ name: 'projector' }),
);
