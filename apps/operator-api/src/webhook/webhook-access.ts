import { Refusal } from '@rollcall/decider';
import { SystemClock } from '@rollcall/lifetimes';
import {
  checkTargetWithin,
  WebhookKeyMissing,
  type TargetRules,
  type WebhookDatabase,
  type WebhookSecrets,
} from '@rollcall/webhooks';

/** Milliseconds for the name of an address: as long as an attempt is given for it. */
const RESOLVED_WITHIN = 5_000;

/** What is kept of webhooks outside the record, and which addresses they may have. */
export class WebhookAccess {
  constructor(
    readonly database: WebhookDatabase,
    private readonly secrets: WebhookSecrets,
    private readonly targets: TargetRules,
  ) {}

  /** Why nothing can be sealed or sent; null when all is well. */
  get problem(): string | null {
    return this.secrets.problem;
  }

  /**
   * What is shown of an address: its host, with its port where that is no ordinary one.
   *
   * @throws Refusal `webhook-target-refused`, where nothing may be sent to it
   */
  async hostOf(url: string): Promise<string> {
    const target = await checkTargetWithin(RESOLVED_WITHIN, url, this.targets, new SystemClock());
    if ('problem' in target) throw new Refusal('webhook-target-refused', { reason: target.problem });
    return target.url.host;
  }

  /** Keeps an address; answers the secret that goes with it. What was kept for it before goes. @throws Refusal `webhook-key-missing` */
  seal(endpoint: string, url: string): Promise<string> {
    return withKey(() =>
      this.database.transaction().execute((transaction) => this.secrets.create(transaction, endpoint, url)),
    );
  }

  /** Makes another secret; the one before is valid for a while. @throws Refusal `webhook-key-missing` */
  roll(endpoint: string): Promise<string> {
    return withKey(() =>
      this.database.transaction().execute((transaction) => this.secrets.roll(transaction, endpoint)),
    );
  }

  /** The address that is kept; null where none is. @throws Refusal `webhook-key-missing` */
  async addressOf(endpoint: string): Promise<string | null> {
    return (await withKey(() => this.secrets.open(this.database, endpoint)))?.url ?? null;
  }
}

const withKey = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw error instanceof WebhookKeyMissing ? new Refusal('webhook-key-missing') : error;
  }
};
