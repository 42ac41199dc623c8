import secrets from 'k6/secrets';
import { check } from 'k6';
export default async function () {
  const value = await secrets.get('a');
  console.log(value);
  console.warn('before ' + value + ' after');
  console.error({ nested: { value } });
  console.debug(value);
  console.log(value + value, value.toUpperCase(), value.slice(1), [value, 'plain']);
  check(value, { 'has it': (v) => v === 'topsecret' });
}
