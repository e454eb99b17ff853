import { absenceModel } from './absence/store.js';
import { historyModel } from './history/store.js';
import type { ReadModel } from './model.js';
import { presenceModel } from './presence/store.js';
import { readinessModel } from './readiness/store.js';

/** Every read model: what a projector follows. */
export const READ_MODELS: readonly ReadModel[] = [presenceModel, historyModel, readinessModel, absenceModel];
