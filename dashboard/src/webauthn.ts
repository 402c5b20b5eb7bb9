/** Passkeys in the browser: WebAuthn's objects from and to their JSON form, which not every browser converts itself. */

/** What `navigator.credentials` takes, with bytes as base64url. */
interface OptionsJson {
  challenge: string;
  user?: { id: string };
  excludeCredentials?: { id: string }[];
  allowCredentials?: { id: string }[];
}

export const supportsPasskeys = (): boolean => 'PublicKeyCredential' in globalThis;

/** The person closed the browser's dialog, or let it time out. */
class PasskeyCancelledError extends Error {
  override name = 'PasskeyCancelledError';
}

/** Has the browser make a passkey. Returns the JSON of its answer. */
export async function makePasskey(json: string): Promise<string> {
  const publicKey = decoded(json) as unknown as PublicKeyCredentialCreationOptions;
  return encoded(await asked(() => navigator.credentials.create({ publicKey })));
}

/**
 * Has the browser sign with a passkey. `signal`: to end an offer among the saved sign-ins of a field, which waits until
 * one is chosen; without it, the browser opens a dialog at once.
 */
export async function passkeyFor(json: string, signal?: AbortSignal): Promise<string> {
  const publicKey = decoded(json) as unknown as PublicKeyCredentialRequestOptions;
  return encoded(
    await asked(() =>
      navigator.credentials.get({ publicKey, ...(signal === undefined ? {} : { signal, mediation: 'conditional' }) }),
    ),
  );
}

async function asked(ask: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const credential = await ask();
    if (credential !== null) return credential as PublicKeyCredential;
  } catch (error) {
    const name = error instanceof DOMException ? error.name : '';
    // `InvalidStateError`: this authenticator has a passkey of the person already.
    if (name !== 'NotAllowedError' && name !== 'AbortError' && name !== 'InvalidStateError') throw error;
  }
  throw new PasskeyCancelledError();
}

function decoded(json: string): OptionsJson {
  const options = JSON.parse(json) as OptionsJson;
  const listed = (list: { id: string }[] | undefined) => list?.map((each) => ({ ...each, id: bytesOf(each.id) }));
  return {
    ...options,
    challenge: bytesOf(options.challenge),
    ...(options.user === undefined ? {} : { user: { ...options.user, id: bytesOf(options.user.id) } }),
    ...(options.excludeCredentials === undefined ? {} : { excludeCredentials: listed(options.excludeCredentials) }),
    ...(options.allowCredentials === undefined ? {} : { allowCredentials: listed(options.allowCredentials) }),
  } as unknown as OptionsJson;
}

function encoded({ id, rawId, type, response }: PublicKeyCredential): string {
  const { attestationObject, getTransports } = response as Partial<AuthenticatorAttestationResponse>;
  const { authenticatorData, signature } = response as Partial<AuthenticatorAssertionResponse>;
  const clientDataJSON = textOf(response.clientDataJSON);
  const answer =
    attestationObject === undefined
      ? { clientDataJSON, authenticatorData: textOf(authenticatorData), signature: textOf(signature) }
      : {
          clientDataJSON,
          attestationObject: textOf(attestationObject),
          transports: getTransports?.call(response) ?? [],
        };
  return JSON.stringify({ id, rawId: textOf(rawId), type, response: answer, clientExtensionResults: {} });
}

function bytesOf(base64url: string): Uint8Array {
  return Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.codePointAt(0) ?? 0);
}

function textOf(bytes: ArrayBuffer = new ArrayBuffer(0)): string {
  return btoa(String.fromCodePoint(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
