import secrets from 'k6/secrets';
const early = await secrets.get('mine');
async function attempt(name, body) {
  try { const value = await body(); console.log(name, typeof value, value === 'hidden', value.length); } catch (e) { console.log(name, 'threw', String(e).replace('Error: ', '')); }
}
export default async function () {
  console.log(Object.keys(secrets).sort().join(), early === 'hidden');
  await attempt('get', () => secrets.get('mine'));
  await attempt('missing', () => secrets.get('nope'));
  await attempt('nothing', () => secrets.get());
  await attempt('source', () => secrets.source('default').get('other'));
  await attempt('no source', () => secrets.source('nope').get('mine'));
  const mine = await secrets.get('mine');
  console.log('in the middle ' + mine + ' of text', [mine], { mine }, mine.split('').join('-'), mine.toUpperCase());
  console.error(mine, await secrets.get('other'));
  console.log(mine.slice(0, 4));
  throw new Error('has ' + mine);
}
export function handleSummary() { return { stdout: 'the summary shows hidden\n' }; }
