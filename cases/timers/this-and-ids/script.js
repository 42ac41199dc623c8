export default function () {
  const ids = [setTimeout(() => {}, 1), setTimeout(() => {}, 1), setInterval(() => {}, 1000)];
  console.log(ids.map((id) => typeof id).join(), ids[0] !== ids[1], ids[1] < ids[2]);
  clearInterval(ids[2]);
  clearTimeout(ids[0]);
  clearTimeout(ids[0]);
  setTimeout(function () { console.log(typeof this); }, 1);
}
