export default async function () {
  const value = await new Promise((resolve) => setTimeout(() => resolve('later'), 20));
  console.log(value);
}
