/**
 * Connects the tab of a sign-up with the tab of its mail's link in the same browser: the first still knows the password
 * and signs in, so that it need not be typed again.
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
