import { Link } from 'wouter-preact';
import { TypedCode } from '../parts/typed-code.js';

/** A person lets a program act as them that shows a code, such as `rollcall login` (RFC 8628). */
export const DevicePage = () => (
  <TypedCode
    route="/v1/logins"
    title="Sign a program in"
    label="The code that it shows"
    claims={CLAIMS}
    caution="Go on only if you have just started this yourself and see this very code in front of you. Whoever shows it can do all that you can do, for twelve hours."
    approve="Sign it in as me"
    said={{
      approved: () => 'is approved: the program is signed in when it asks next, within some seconds.',
      refused: () => 'is refused: nobody signs in with it.',
    }}
  >
    <p class="faint">
      A code of an installation that wants to join is typed <Link href="/codes">elsewhere</Link>.
    </p>
  </TypedCode>
);

const CLAIMS = [
  ['client', 'Program'],
  ['device', 'Computer'],
  ['platform', 'Platform'],
] as const;
