import secrets from 'k6/secrets';
export default async function () {
  for (const get of [() => secrets.get('a'), () => secrets.source('x').get('a'), () => secrets.source('y').get('a'), () => secrets.source('z').get('a')]) {
    try { console.log((await get()).length); } catch (e) { console.log('threw'); }
  }
}
