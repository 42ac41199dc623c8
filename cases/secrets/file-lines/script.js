import secrets from 'k6/secrets';
export default async function () {
  for (const name of ['plain', 'spaced', ' spaced', 'equals', 'quoted', 'empty', 'Capital', 'capital', 'twice', '# comment', 'comment', 'under_score', 'tail']) {
    try { const value = await secrets.get(name); console.log(name, value.length, value.split('').map((c) => c.charCodeAt(0)).join(' ')); } catch (e) { console.log(name, 'threw'); }
  }
}
