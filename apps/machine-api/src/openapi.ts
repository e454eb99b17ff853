import { EventStore } from '@rollcall/event-store';
import { LogTails } from '@rollcall/log-tails';
import { describedRoutes, openApiDocument, type DeclaredRoute } from '@rollcall/nest-platform';
import { ChainTokens } from './chain/chain-tokens.js';
import { MachineApiModule, type MachineApiParts } from './machine-api.module.js';
import { MachineTerms } from './machine/machine-terms.js';
import { RecordEpoch } from './record/record-epoch.js';

// Nothing is instantiated for the document, so the parts are only named.
const named = <Part>(part: { prototype: Part }): Part => Object.create(part.prototype as object) as Part;

const PARTS: MachineApiParts = {
  store: named(EventStore),
  tails: named(LogTails),
  epoch: named(RecordEpoch),
  tokens: named(ChainTokens),
  terms: named(MachineTerms),
  readiness: [],
};

/** The OpenAPI document of the machine API, as it is committed and compared. */
export const document = (): Promise<object> =>
  openApiDocument(MachineApiModule.over(PARTS), {
    title: 'Rollcall machine API',
    description:
      'What machines call: they enrol with a token, check in with a credential that they made themselves, and upload what they were asked for.',
    version: '1',
    bearers: ['machine'],
  });

/** Every route of the machine API with what it does. */
export const routes = (): Promise<DeclaredRoute[]> => describedRoutes(MachineApiModule.over(PARTS));
