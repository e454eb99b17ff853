import { expect, it } from '@jest/globals';
import { ACTIONS, kindsFor } from '@rollcall/authorisation';
import { routes as machineRoutes } from '@rollcall/machine-api';
import { routes as operatorRoutes } from '@rollcall/operator-api';

const [ofMachines, ofPeople] = await Promise.all([machineRoutes(), operatorRoutes()]);
const all = [...ofMachines, ...ofPeople];

it('knows of each route of both APIs what it does, and of each action a route (O3)', () => {
  expect(all.filter(({ action }) => action === null || !Object.hasOwn(ACTIONS, action))).toEqual([]);
  const actions = new Set(all.map(({ action }) => action));
  expect(Object.keys(ACTIONS).filter((action) => !actions.has(action as keyof typeof ACTIONS))).toEqual([]);
});

it('has a machine call nothing of what people call, and people nothing of what machines call', () => {
  const kinds = (routes: typeof all) => new Set(routes.flatMap(({ action }) => (action ? kindsFor(action) : [])));
  expect(kinds(ofMachines)).toEqual(new Set(['machine', 'nobody']));
  expect(kinds(ofPeople)).not.toContain('machine');
});

/** The page has one face under several paths. */
const SHARED = new Set<string | null>(['tell-health', 'show-page']);

it('declares one action per route, so one question is never answered by the entry of another', () => {
  const shared = Map.groupBy(
    ofPeople.filter(({ action }) => !SHARED.has(action)),
    ({ action }) => action,
  );
  expect([...shared.values()].filter((routes) => routes.length > 1)).toEqual([]);
});
