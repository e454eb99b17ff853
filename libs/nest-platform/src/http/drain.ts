/** Counts the requests that are being answered, and knows whether new ones are still taken. */
export class Drain {
  private running = 0;
  private readonly begun = new AbortController();
  private readonly empty = Promise.withResolvers<void>();

  /** Whether new requests are refused. */
  get draining(): boolean {
    return this.begun.signal.aborted;
  }

  /** Aborted when new requests begin to be refused. */
  get signal(): AbortSignal {
    return this.begun.signal;
  }

  /** Counts one request until the returned function is called. */
  enter(): () => void {
    this.running += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.running -= 1;
      this.settle();
    };
  }

  /** Refuses new requests from now on; resolves when the running ones are answered. */
  begin(): Promise<void> {
    this.begun.abort();
    this.settle();
    return this.empty.promise;
  }

  private settle(): void {
    if (this.draining && this.running === 0) this.empty.resolve();
  }
}
