import secrets from 'k6/secrets';
import { check } from 'k6';
export async function setup() { return { token: await secrets.get('a') }; }
export default function ({ token }) { check(token, { [`is ${token}`]: (v) => v === 'topsecret' }); }
export function handleSummary(data) {
  const names = data.root_group.checks.map((one) => one.name);
  return { 'summary.json': JSON.stringify({ names, setup: data.setup_data }), stdout: `${names}\n` };
}
