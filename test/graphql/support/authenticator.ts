/** A software authenticator (WebAuthn Level 3): one key pair, ES256, no attestation. What a browser adds is added, too. */

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** What a test lets the device or the browser do otherwise. */
interface Ceremony {
  /** The page that asks; a browser writes it down itself. */
  origin?: string;
  /** Members of the client data that the browser writes down besides. */
  clientData?: Record<string, unknown>;
  /** Whether the device has verified its user, by finger, face or PIN. */
  userVerified?: boolean;
}

export interface Authenticator {
  /** Answers options for a new passkey. */
  make(options: string, ceremony?: Ceremony): string;
  /** Answers options for a sign-in. */
  use(options: string, ceremony?: Ceremony): string;
}

export function createAuthenticator(origin: string): Authenticator {
  const id = randomBytes(32);
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  let count = 0;
  const data = (rpId: string, userVerified: boolean, attested: Buffer): Buffer => {
    count += 1;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(count);
    const flags = 0x01 | (userVerified ? 0x04 : 0) | (attested.length > 0 ? 0x40 : 0);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), counter, attested]);
  };
  const client = (type: string, challenge: string, from: string, more: Record<string, unknown> = {}) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: from, crossOrigin: false, ...more }));
  const answer = (response: Record<string, unknown>): string => {
    const text = id.toString('base64url');
    return JSON.stringify({ id: text, rawId: text, type: 'public-key', response, clientExtensionResults: {} });
  };

  return {
    make(options, { origin: from = origin, userVerified = true, clientData } = {}) {
      const { challenge, rp } = JSON.parse(options) as { challenge: string; rp: { id: string } };
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const attested = Buffer.concat([Buffer.alloc(16), length, id, coseKey(publicKey)]);
      const authData = data(rp.id, userVerified, attested);
      return answer({
        clientDataJSON: client('webauthn.create', challenge, from, clientData).toString('base64url'),
        attestationObject: Buffer.concat([
          Buffer.from([0xa3]),
          cborText('fmt'),
          cborText('none'),
          cborText('attStmt'),
          Buffer.from([0xa0]),
          cborText('authData'),
          cborBytes(authData),
        ]).toString('base64url'),
        transports: ['internal'],
      });
    },

    use(options, { origin: from = origin, userVerified = true, clientData: more } = {}) {
      const { challenge, rpId } = JSON.parse(options) as { challenge: string; rpId: string };
      const authenticatorData = data(rpId, userVerified, Buffer.alloc(0));
      const clientData = client('webauthn.get', challenge, from, more);
      const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientData).digest()]);
      return answer({
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authenticatorData.toString('base64url'),
        signature: sign('sha256', signed, privateKey).toString('base64url'),
      });
    },
  };
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** CBOR (RFC 8949): texts below 24 bytes, byte strings below 65,536. */
const cborText = (text: string): Buffer => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);

function cborBytes(bytes: Buffer): Buffer {
  const head = Buffer.from([0x59, 0, 0]);
  head.writeUInt16BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** A P-256 key as COSE (RFC 9053): kty 2, alg -7, crv 1, x, y. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const coordinate = (text: string) => Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(text, 'base64url')]);
  return Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
    coordinate(x),
    Buffer.from([0x22]),
    coordinate(y),
  ]);
}
