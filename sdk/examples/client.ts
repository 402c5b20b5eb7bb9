// The client that the other examples share. The address ends in /api, without /v1.
import { Steyg } from '@steyg/sdk';

export const steyg = new Steyg({
  baseUrl: process.env['STEYG_BASE_URL'] ?? 'http://127.0.0.1:8787/api',
  apiKey: process.env['STEYG_API_KEY'],
});
