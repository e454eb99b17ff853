// A process of its own that delivers webhooks, and ends itself without warning at a step that a test names.
import {
  openWebhooks,
  parseAllowedTarget,
  readWebhookKey,
  SystemResolver,
  WebhookQueue,
  WebhookSecrets,
  WebhookWorker,
  type DeliveryStep,
} from '@rollcall/webhooks';

const { connectionString, keyFile, allow, endsAt } = JSON.parse(process.argv[2] ?? '') as {
  readonly connectionString: string;
  readonly keyFile: string;
  readonly allow: string;
  readonly endsAt: DeliveryStep;
};

const allowed = parseAllowedTarget(allow);
const worker = new WebhookWorker({
  database: openWebhooks({ connectionString, applicationName: 'rollcall test' }),
  queue: await WebhookQueue.open({ connectionString, applicationName: 'rollcall test', looksAfter: true }),
  secrets: new WebhookSecrets(await readWebhookKey(keyFile)),
  resolver: new SystemResolver(),
  allowed: allowed ? [allowed] : [],
  ca: null,
  log: { info: () => undefined, warn: (_fields, message) => void process.stderr.write(`${message}\n`) },
  reached: (step) => void (step === endsAt && process.kill(process.pid, 'SIGKILL')),
});
await worker.run(new AbortController().signal);
