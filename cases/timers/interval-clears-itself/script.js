export default function () {
  let n = 0;
  const own = setInterval(() => { console.log('own', ++n); if (n === 3) clearInterval(own); }, 5);
  const other = setInterval(() => {}, 1);
  setTimeout(() => { clearInterval(other); console.log('cleared'); }, 40);
}
