import { describe, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import type { SelfReport, SelfReportChanged } from './facts.js';
import { selfReport } from './self-report.js';
import { admit, check, NO_REPORT } from './testing/builders.js';

const given = specFor(selfReport);

const REPORT: SelfReport = { hostname: 'ip-10-0-0-7', agentVersion: '1.0.0', platform: 'linux', arch: 'x64' };
const changed = (report: SelfReport): SelfReportChanged => ({ type: 'SelfReportChanged', ...report });

describe('what a machine reports about itself', () => {
  it('is recorded at admission when there is something', () => {
    given()
      .when(admit({ report: REPORT }))
      .then(changed(REPORT));
    given().when(admit()).thenNothing();
  });

  it('is recorded whole when one field changes', () => {
    given(changed(REPORT))
      .when(check({ report: { hostname: 'ip-10-0-0-9' } }))
      .then(changed({ ...REPORT, hostname: 'ip-10-0-0-9' }));
    given(changed(REPORT))
      .when(check({ report: { agentVersion: '1.0.1' } }))
      .then(changed({ ...REPORT, agentVersion: '1.0.1' }));
    given(changed(REPORT))
      .when(check({ report: { platform: 'darwin' } }))
      .then(changed({ ...REPORT, platform: 'darwin' }));
    given(changed(REPORT))
      .when(check({ report: { arch: 'arm64' } }))
      .then(changed({ ...REPORT, arch: 'arm64' }));
  });

  it('is not recorded again while it stays the same', () =>
    given(changed(REPORT))
      .when(check({ report: REPORT }))
      .thenNothing());

  it('keeps a field that a check leaves out or could not read', () => {
    given(changed(REPORT))
      .when(check({ report: {} }))
      .thenNothing();
    given(changed(REPORT))
      .when(check({ report: NO_REPORT }))
      .thenNothing();
    given(changed(REPORT))
      .when(check({ report: { ...NO_REPORT, arch: 'arm64' } }))
      .then(changed({ ...REPORT, arch: 'arm64' }));
  });
});
