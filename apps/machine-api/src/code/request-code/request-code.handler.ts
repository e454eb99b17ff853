import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { code, CODE_ALPHABET, CODE_LIFE_SECONDS, codeStream, POLL, userCodeOf } from '@rollcall/admission';
import { ClaimTaken, EventStore } from '@rollcall/event-store';
import { hashOf, makeSecret, type CodeAnswer } from '@rollcall/wire';
import { randomInt, randomUUID } from 'node:crypto';
import { MachineTerms } from '../../machine/machine-terms.js';
import { CodeStarts } from '../code-starts.js';
import { RequestShortCode } from './request-code.command.js';

/** Makes both codes and answers them once: what is kept are their hashes, and that of the credential which the installation has. */
@CommandHandler(RequestShortCode)
export class RequestShortCodeHandler implements ICommandHandler<RequestShortCode> {
  constructor(
    private readonly store: EventStore,
    private readonly starts: CodeStarts,
    private readonly terms: MachineTerms,
  ) {}

  async execute(command: RequestShortCode): Promise<CodeAnswer> {
    this.starts.count();
    for (;;) {
      const userCode = userCodeOf(Array.from({ length: 8 }, () => randomInt(CODE_ALPHABET.length)));
      const deviceCode = makeSecret('rcd');
      try {
        await this.store.decide(
          code,
          { stream: codeStream(randomUUID()) },
          {
            type: 'RequestCode',
            userCodeHash: hashOf(userCode),
            deviceCodeHash: hashOf(deviceCode),
            identifierHash: command.identifierHash,
            keyHash: command.credentialHash,
            report: command.report,
          },
          { actor: { kind: 'plane', id: 'admission' } },
        );
        const { verificationAddress } = this.terms;
        return { userCode, deviceCode, verificationAddress, expiresIn: CODE_LIFE_SECONDS, interval: POLL.interval };
      } catch (error) {
        // The same letters were drawn before, once in some thousand million times: draw again.
        if (!(error instanceof ClaimTaken)) throw error;
      }
    }
  }
}
