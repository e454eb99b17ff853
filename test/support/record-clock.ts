import { Owner } from './owner.js';

/**
 * The clock of one test database's record, in the hands of a test: what takes minutes there takes none here. It begins at the present, goes
 * on only when it is told to, and is meant for the future: whoever asks the server's own clock then sees the record ahead of it.
 */
export class RecordClock implements AsyncDisposable {
  private constructor(
    private readonly owner: Owner,
    private at: number,
  ) {}

  static async of({ ownerUrl }: { readonly ownerUrl: string }): Promise<RecordClock> {
    const owner = await Owner.connect(ownerUrl);
    // What a function finds in pg_catalog it finds first, unless its search path says otherwise.
    await owner.rows(`
      create table test_clock (at timestamptz not null);
      insert into test_clock select date_trunc('milliseconds', pg_catalog.clock_timestamp());
      create function public.clock_timestamp() returns timestamptz language sql volatile security definer
        as 'select at from public.test_clock';
      do $$ declare f regprocedure; begin
        for f in select oid from pg_proc where proname = 'append' and pronamespace = 'public'::regnamespace loop
          execute format('alter function %s set search_path = public, pg_catalog, pg_temp', f);
        end loop;
      end $$`);
    const at = await owner.value<Date>('select at from test_clock');
    return new RecordClock(owner, at.getTime());
  }

  /** The time of the next batch, unless the clock goes on before. */
  get now(): number {
    return this.at;
  }

  async pass(seconds: number): Promise<void> {
    this.at += seconds * 1_000;
    await this.owner.rows('update test_clock set at = $1', [new Date(this.at)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.owner[Symbol.asyncDispose]();
  }
}
