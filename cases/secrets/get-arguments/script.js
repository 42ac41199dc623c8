import secrets from 'k6/secrets';
export default async function () {
  for (const values of [[], [''], [5], [null], [undefined], [true], [{}], [['5']], ['5', 'more']]) {
    try { console.log(JSON.stringify(values), (await secrets.get(...values)).length); } catch (e) { console.log(JSON.stringify(values), 'threw'); }
  }
}
