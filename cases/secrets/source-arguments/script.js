import secrets from 'k6/secrets';
export default async function () {
  for (const values of [[], [''], [5], [null], [undefined], ['nobody'], ['default']]) {
    try { console.log(JSON.stringify(values), (await secrets.source(...values).get('a')).length); } catch (e) { console.log(JSON.stringify(values), 'threw'); }
  }
}
