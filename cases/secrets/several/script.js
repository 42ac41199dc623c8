import secrets from 'k6/secrets';
export default async function () {
  for (const get of [() => secrets.get('a'), () => secrets.source('one').get('a'), () => secrets.source('two').get('a'), () => secrets.source('default').get('b')]) {
    try { console.log(await get()); } catch (e) { console.log(String(e).replace('Error: ', '')); }
  }
}
