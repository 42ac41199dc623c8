export default function () {
  let n = 0;
  const id = setInterval(() => { console.log(++n); if (n === 3) clearInterval(id); }, 10);
  const gone = setTimeout(() => console.log('never'), 20);
  clearTimeout(gone); clearTimeout(12345); clearTimeout(undefined);
  setTimeout((a, b) => console.log(a, b), 5, 'one', 2);
}
