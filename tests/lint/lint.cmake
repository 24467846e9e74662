find_program(GT_PYTHON python3 REQUIRED)
add_test(NAME lint.layering COMMAND ${GT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/lint/check_layering.py)
add_test(NAME lint.texts COMMAND ${GT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/lint/check_texts.py)
add_test(NAME lint.tree COMMAND ${GT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/lint/check_tree.py)
