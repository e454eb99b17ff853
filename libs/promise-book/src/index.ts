export * from './facts.js';
export {
  labelSelector,
  MOST_PROMISES,
  nodeOf,
  nodeSelector,
  promiseBook,
  promiseOf,
  promiserOf,
  promisesStream,
  type MakePromise,
  type NodePromise,
  type Promises,
  type WithdrawPromise,
} from './promise-book.js';
