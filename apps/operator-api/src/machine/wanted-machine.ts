/** How a path names a machine, for the documentation of its parameter. */
export const WANTED_MACHINE = {
  name: 'machine',
  description: 'Its id, the first 8 or more characters of it, or its exact name.',
  type: String,
} as const;
