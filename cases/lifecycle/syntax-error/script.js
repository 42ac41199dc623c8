export default function () {
  const = 3;
}
