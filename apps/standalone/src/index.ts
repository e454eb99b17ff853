export { DirectoryInUse, openDataDirectory, type DataDirectory } from './data-directory.js';
export { tokenFrom, welcome } from './first-person.js';
export type { StandaloneOptions } from './options.js';
export { OpenedInOrder, openPlane, type Plane } from './plane.js';
