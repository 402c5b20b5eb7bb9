/**
 * Signing up happens in one tab, and the link of the mail opens another one. In the same browser they talk: the first
 * still knows the password and can sign in, so that nobody has to type it again.
 */
export type VerificationMessage = 'confirmed' | 'signed-in';

export function openVerificationChannel(onMessage: (message: VerificationMessage) => void): {
  post(message: VerificationMessage): void;
  close(): void;
} {
  const channel = new BroadcastChannel('steyg.verification');
  channel.addEventListener('message', (event: MessageEvent<VerificationMessage>) => onMessage(event.data));
  return {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel never leaves its origin
    post: (message) => channel.postMessage(message),
    close: () => channel.close(),
  };
}
