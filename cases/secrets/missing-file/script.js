import secrets from 'k6/secrets';
export default async function () {
  try { await secrets.get('a'); } catch (e) { console.log(String(e).replace('Error: ', '')); }
  console.log(typeof secrets.source('x').get);
}
