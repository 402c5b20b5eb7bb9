import { masked } from '../format.ts';

/** A key or a token as its owner knows it: the name, and the displayable part of the secret. */
export function SecretName({ name, prefix, last4 }: { name: string; prefix: string; last4: string }) {
  return (
    <>
      {name}
      <br />
      <code className="line">{masked(last4, prefix)}</code>
    </>
  );
}
