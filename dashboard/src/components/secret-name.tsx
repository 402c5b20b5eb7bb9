/** A key or a token as its owner knows it: the name, and as much of the secret as may be shown. */
export function SecretName({ name, prefix, last4 }: { name: string; prefix: string; last4: string }) {
  return (
    <>
      {name}
      <br />
      <code className="line">
        {prefix}…{last4}
      </code>
    </>
  );
}
