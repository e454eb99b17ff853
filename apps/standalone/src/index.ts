export { openDataDirectory, DirectoryInUse } from './data-directory.js';
export { openPlane, OpenedInOrder } from './plane.js';
