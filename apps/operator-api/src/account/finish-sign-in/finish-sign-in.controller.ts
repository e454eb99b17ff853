import { Controller, Get, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiExcludeController } from '@nestjs/swagger';
import { verdictOn } from '@rollcall/authorisation';
import { Refusal } from '@rollcall/decider';
import { Authenticator, Does, type Principal } from '@rollcall/nest-platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sessionCookies, sessionReplacedBy } from '../../access/browser-session.js';
import { flowCookie, underWayIn, type UnderWay } from '../flow-cookie.js';
import { IdentityProvider } from '../identity-provider.js';
import { LinkShownAccount } from '../link-account/link-account.command.js';
import { SignInByAccount } from './finish-sign-in.command.js';

/** Takes browsers back from the identity provider, and shows them our page: what went wrong is a word of a closed list in its address. */
@ApiExcludeController()
@Does('finish-provider-sign-in')
@Controller('v1/provider/callback')
export class FinishSignInController {
  constructor(
    private readonly provider: IdentityProvider,
    private readonly commands: CommandBus,
    private readonly authenticator: Authenticator,
  ) {}

  @Get()
  async finish(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const underWay = underWayIn(request.headers.cookie);
    // Once, whatever comes of it.
    void reply.header('set-cookie', flowCookie(null));
    const to = await this.outcome(request, reply, underWay).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
      return `${underWay?.linksTo ? '/account' : '/sign-in'}?problem=${error.code}`;
    });
    void reply
      .headers({ location: to, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
      .code(303)
      .send();
  }

  private async outcome(request: FastifyRequest, reply: FastifyReply, underWay: UnderWay | null): Promise<string> {
    if (!underWay) throw new Refusal('provider-refused');
    const returned = new URL(request.url, `${request.protocol}://${request.host}`);
    const account = await this.provider.finish(returned, underWay);
    if (underWay.linksTo === null) {
      const { session: secret, expiresAt } = await this.commands.execute(
        new SignInByAccount(account, { replaces: sessionReplacedBy(request) }),
      );
      void reply.header('set-cookie', sessionCookies({ secret, expiresAt }));
    } else {
      const personId = await this.personOf(request, underWay.linksTo);
      await this.commands.execute(new LinkShownAccount(personId, account.accountHash, this.provider.host));
    }
    return underWay.returnTo;
  }

  /** The person of the session that wanted a link, if this browser still has it, and it still may. */
  private async personOf(request: FastifyRequest, sessionId: string): Promise<string> {
    const asking = (await this.authenticator.authenticate(this.authenticator.credentialOf(request))) as Principal & {
      readonly id?: string;
      readonly sessionId?: string;
    };
    if (asking.id === undefined || asking.sessionId !== sessionId) throw new Refusal('not-signed-in');
    // What the cookie says is the browser's own word, so who may link is asked here again: else a session that is not fresh got one that is (O3).
    if (verdictOn('link-account', asking) !== 'yes') throw new Refusal('session-not-fresh');
    return asking.id;
  }
}
