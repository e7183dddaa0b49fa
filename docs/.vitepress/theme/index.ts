import { useRoute } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { nextTick, onMounted, watch } from 'vue';

/** What the theme leaves out for people with screen readers: the main part of the first page, and names of what can be pressed. */
function complete(): void {
  document.querySelector('.VPContent.is-home')?.setAttribute('role', 'main');
  // Headings of the sidebar have a button of their own.
  for (const heading of document.querySelectorAll('.VPSidebarItem > .item[role="button"]')) {
    heading.removeAttribute('role');
    heading.removeAttribute('tabindex');
  }
  const search = document.querySelector<HTMLElement>('.DocSearch-Button');
  // Where it has a text, that is its name.
  if (search?.innerText.trim()) search.removeAttribute('aria-label');
}

export default {
  extends: DefaultTheme,
  setup() {
    const route = useRoute();
    onMounted(() =>
      watch(
        () => route.path,
        () => nextTick(complete),
        { immediate: true },
      ),
    );
  },
};
