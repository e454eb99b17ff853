/** The ids of what a person does on a page. The same done again, because the answer got lost, has the same id: so it happens once. */
export class CommandIds {
  private readonly ids = new Map<string, string>();

  /** @param what all that the plane is told, and by which route */
  of(what: object): string {
    const key = JSON.stringify(what);
    const id = this.ids.get(key) ?? crypto.randomUUID();
    this.ids.set(key, id);
    return id;
  }
}
