import type { AnsweredCode } from '@rollcall/wire';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { TypedCode } from '../parts/typed-code.js';

/** A person lets the installation in that shows a code (O12). */
export const CodePage = () => {
  const [name, setName] = useState('');
  const [node, setNode] = useState('');
  return (
    <TypedCode<AnsweredCode>
      route="/v1/codes"
      title="Let an installation in"
      label="The code that it shows"
      claims={CLAIMS}
      caution="Let it in only if you see this very code on the machine in front of you. It becomes a machine of yours."
      approve="Let it in"
      said={{
        approved: ({ replaces }) =>
          `is approved: the installation joins when it asks next, within some seconds.${replaces === null ? '' : ' The machine that it replaces is deleted.'}`,
        refused: () => 'is refused: nobody joins with it.',
      }}
      approval={() => ({
        ...(name.trim() === '' ? {} : { name: name.trim() }),
        ...(node.trim() === '' ? {} : { node: node.trim() }),
      })}
      answered={() => {
        setName('');
        setNode('');
      }}
      fields={
        <>
          <label for="as">Name, or nothing: then it says its own</label>
          <input
            id="as"
            maxLength={64}
            autocomplete="off"
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
          <label for="instead-of">
            As the next one after this machine of yours, which is deleted for good; or nothing
          </label>
          <input
            id="instead-of"
            maxLength={256}
            autocomplete="off"
            value={node}
            onInput={({ currentTarget }) => setNode(currentTarget.value)}
          />
        </>
      }
    >
      <p class="faint">
        A code of <code>rollcall login</code> is typed <Link href="/device">elsewhere</Link>.
      </p>
    </TypedCode>
  );
};

const CLAIMS = [
  ['hostname', 'Hostname'],
  ['agentVersion', 'Agent'],
  ['platform', 'Platform'],
  ['arch', 'Architecture'],
] as const;
