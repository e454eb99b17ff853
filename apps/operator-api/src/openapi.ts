import { describedRoutes, openApiDocument, type DeclaredRoute } from '@rollcall/nest-platform';
import { OperatorApiModule } from './operator-api.module.js';

/** The OpenAPI document of the operator API. Needs no database: only the shape of the module is looked at. */
export const document = (): ReturnType<typeof openApiDocument> =>
  openApiDocument(OperatorApiModule.described(), {
    title: 'Rollcall operator API',
    description:
      'What people and their tools call. Errors are problem documents (RFC 9457); clients act on their `code`.',
    version: '1',
    bearers: ['person', 'automation'],
  });

/** Every route of the operator API with what it does. */
export const routes = (): Promise<DeclaredRoute[]> => describedRoutes(OperatorApiModule.described());
