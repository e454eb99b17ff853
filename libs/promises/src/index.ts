export { NotASchedule, parseSchedule, SCHEDULE_LENGTH, type Schedule } from './schedule.js';
export { isPromised, nextPromised, promiseState } from './promised.js';
