import secrets from 'k6/secrets';
export default async function () {
  for (const name of ['first', '#first', 'novalue', 'last']) {
    try { console.log(name, (await secrets.get(name)).length); } catch (e) { console.log(name, 'threw'); }
  }
}
