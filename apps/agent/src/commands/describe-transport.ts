import type { TransportError, TransportFailure } from '@rollcall/pinned-https';

/** Why there was no answer, for the person at the terminal. */
export const describeTransport = ({ code, message }: TransportError): string => SENTENCES[code](message);

const noAnswer = (why: string) => `no answer (${why})`;
const otherCertificate = (why: string) => `the certificate there is not the plane's (${why}); nothing was sent`;

const SENTENCES: Readonly<Record<TransportFailure, (why: string) => string>> = {
  'certificate-not-pinned': () => 'whoever answers there is not the plane that this token is for; nothing was sent',
  'certificate-other-host': otherCertificate,
  'certificate-untrusted': otherCertificate,
  'certificate-not-yet-valid': (why) => `the clock of this machine is behind (${why}); nothing was sent`,
  'certificate-expired': (why) =>
    `the clock of this machine is ahead, or the certificate of the plane has expired (${why}); nothing was sent`,
  unreachable: noAnswer,
  'answer-too-large': noAnswer,
  aborted: noAnswer,
};
