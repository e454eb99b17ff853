/**
 * What a test says first that does what only root may do, so that it fails with a reason for everybody else, and is not left out in silence.
 *
 * @throws Error for everybody but root, with what the test does
 */
export const requireRoot = (does: string): void => {
  if (process.geteuid?.() !== 0) throw new Error(`This test ${does}, which only root may do`);
};
