import { ConfigurationError } from '../errors.ts';

/**
 * The API root without trailing slashes. Throws a `ConfigurationError` for what cannot be one: a forgotten or doubled
 * `/v1` would only show later, as a 404.
 */
export function apiRoot(baseUrl: string): string {
  if (!URL.canParse(baseUrl) || !/^https?:/i.test(baseUrl)) {
    throw new ConfigurationError('baseUrl must be an http(s) address, e.g. https://steyg.example/api');
  }
  const { search, hash, username, password } = new URL(baseUrl);
  // It is also put between quotes, in commands and in source code.
  if (`${search}${hash}${username}${password}` !== '' || !/^[\w.:/%[\]~-]+$/.test(baseUrl)) {
    throw new ConfigurationError('baseUrl must be a plain address, without query, fragment or credentials.');
  }
  const trimmed = baseUrl.replace(/\/+$/, '');
  if (trimmed.endsWith('/v1')) {
    throw new ConfigurationError(
      'baseUrl is the API root, which ends in /api: leave /v1 out, it is added where needed.',
    );
  }
  return trimmed;
}
