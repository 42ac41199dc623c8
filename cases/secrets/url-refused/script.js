import secrets from 'k6/secrets';
export default async function () {
  try { console.log(await secrets.get('a')); } catch (e) { console.log('threw', typeof e); }
}
