import { describe, expect, it } from '@jest/globals';
import { boundTo } from './logout-probe.js';

describe('a process', () => {
  it.each<[string, string, ReturnType<typeof boundTo>]>([
    [
      'a unit of its own service manager',
      '0::/user.slice/user-1000.slice/user@1000.service/app.slice/a.service',
      'user-manager',
    ],
    [
      'the same on a hybrid layout',
      '1:name=systemd:/user.slice/user-1000.slice/user@1000.service\n0::/',
      'user-manager',
    ],
    ['a login session', '0::/user.slice/user-1000.slice/session-3.scope', 'login'],
    ['a session of a container', '0::/user.slice/user-1000.slice/session-c12.scope', 'login'],
    ['a system service', '0::/system.slice/rollcall-agent.service', null],
    [
      'the service manager of somebody else',
      '0::/user.slice/user-10000.slice/user@10000.service/app.slice/a.service',
      null,
    ],
    ['a scope that only sounds like a session', '0::/system.slice/my-session-3.scope', null],
    ['no group at all', '0::/\n', null],
  ])('in %s is bound to what ends it at logout, if anything does (O14)', (_, cgroups, bond) =>
    expect(boundTo(`${cgroups}\n`, 1_000)).toBe(bond),
  );
});
