import { describe, expect, it } from '@jest/globals';
import { decodeSignInLink, hashOf } from '@rollcall/wire';
import { against } from '../testing/against.js';
import { addPerson, linkPerson, listPeople, removePerson } from './people.js';

const bob = { id: 'b1b2c3d4-0000-4000-8000-000000000001', name: 'Bob' };

describe('people', () => {
  it('are added with a link that is made here: the plane is told its hash', async () => {
    const { out, asked } = await against({ person: bob }, (context) => addPerson('Bob', context));
    const { secret, address } = decodeSignInLink(out);
    expect(address).toBe('https://plane');
    expect(asked).toMatchObject([
      { method: 'POST', path: '/v1/people', body: { name: 'Bob', linkHash: hashOf(secret) } },
    ]);
    expect(JSON.stringify(asked)).not.toContain(secret);
  });

  it('are listed, and given another link by name or id', async () => {
    const body = { people: [bob], person: bob };
    expect((await against(body, listPeople)).out).toMatch(/b1b2c3d4-.* +Bob\n/);
    for (const wanted of [bob.name, bob.id]) {
      const { out, asked } = await against(body, (context) => linkPerson(wanted, context));
      const linkHash = hashOf(decodeSignInLink(out).secret);
      expect(asked.at(-1)).toMatchObject({ path: `/v1/people/${bob.id}/sign-in-links`, body: { linkHash } });
    }
    expect((await against(body, (context) => linkPerson('Eve', context))).failure).toMatchObject({ exitCode: 4 });
  });

  it('are removed only with --yes where nobody can be asked, and shown as removed', async () => {
    const again = { ...bob, id: 'b1b2c3d4-0000-4000-8000-000000000002' };
    const body = { people: [{ ...bob, removed: true }, again], person: again };
    expect((await against(body, listPeople)).out).toMatch(/01 +Bob +removed\n.*02 +Bob *\n/);
    const { out, asked } = await against(body, (context) => removePerson('Bob', { yes: true }, context));
    expect(out).toBe('Bob has no access any more.\n');
    expect(asked.at(-1)).toMatchObject({ method: 'DELETE', path: `/v1/people/${again.id}` });
    const unconfirmed = await against(body, (context) => removePerson('Bob', {}, context));
    expect([unconfirmed.failure, unconfirmed.asked]).toEqual([expect.objectContaining({ exitCode: 2 }), []]);
  });
});
